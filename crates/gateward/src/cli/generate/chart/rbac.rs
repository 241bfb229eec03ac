//! The roles of every mode, out of the list of permissions.

use gateward_certs::ProvisionMode;
use gateward_cluster::permissions::{Need, Permission};

use super::source::ChartSource;
use super::template::{action_line, lines};
use crate::cli::generate::manifest::Manifest;
use crate::cli::generate::rbac;
use crate::operator::Operator;

const ACCOUNT: &str = "ServiceAccount";

/// The ServiceAccount.
pub(super) fn service_account<P: Operator>(operator: &P, chart: &ChartSource) -> String {
    texts(operator, chart, |kind| kind == ACCOUNT)
}

/// The roles and their bindings.
pub(super) fn roles<P: Operator>(operator: &P, chart: &ChartSource) -> String {
    texts(operator, chart, |kind| kind != ACCOUNT)
}

fn texts<P: Operator>(operator: &P, chart: &ChartSource, wanted: impl Fn(&str) -> bool) -> String {
    let labels = operator.installation(&chart.release).labels;
    let rule = |permission: &Permission| rule(permission, chart).unwrap_or_default();
    let objects = rbac::objects_with(chart.planned.permissions_of_all_modes(), &chart.planned, &labels, &rule);
    let wanted = objects.iter().filter(|object| wanted(object.text(&["kind"])));
    wanted.map(Manifest::yaml).map(lines).collect::<Vec<_>>().join("---\n")
}

/// A rule with its reason; none where no values of the chart need it.
fn rule(permission: &Permission, chart: &ChartSource) -> Option<String> {
    let Permission { need, modes, .. } = permission;
    let text = rbac::rule(permission);
    let offered: Vec<ProvisionMode> = chart.modes.iter().map(|known| known.mode).collect();
    let needing: Vec<ProvisionMode> = offered.iter().copied().filter(|mode| modes.contains(mode)).collect();
    let of_mode = match needing.as_slice() {
        [] => return None,
        some if *some == offered => None,
        [mode] => Some(format!("eq .Values.certificates.mode {:?}", mode.name())),
        some => {
            let names: Vec<String> = some.iter().map(|mode| format!("{:?}", mode.name())).collect();
            Some(format!("has .Values.certificates.mode (list {})", names.join(" ")))
        }
    };
    let condition = match need {
        Need::ToInstallCrds => Some(".Values.crds.install".to_owned()),
        // In the mode of cert-manager, the chart has it inject what the leader keeps.
        Need::ToKeepBundle => of_mode,
        need if chart.planned.needs.contains(need) => of_mode,
        _ => return None,
    };
    Some(match condition {
        Some(condition) => {
            let [begin, end] =
                [format!("{{{{- if {condition} }}}}"), "{{- end }}".to_owned()].map(|it| action_line(&it));
            begin + &text + &end
        }
        None => text,
    })
}
