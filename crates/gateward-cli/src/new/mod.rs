//! `new`: an operator of somebody else's, from templates.

mod dependency;
mod folder;
mod naming;
mod template;

use std::future::{Future, ready};
use std::io::Write;
use std::path::Path;
use std::pin::Pin;

use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use dynamo_webhooks::Dynamo;
use gateward::{Exit, Extension};

use dependency::GatewardDependency;
use naming::{ApiGroup, KindName, OperatorName};
use template::Placeholders;

/// The command.
pub struct NewOperator;

/// Arguments of `new`.
#[derive(Debug, Args)]
struct NewArguments {
    /// Name of the operator: its folder, crate, program and release
    #[arg(value_name = "NAME")]
    name: OperatorName,
    /// Kind that it is about, such as CronTab; made of NAME, unless it is given
    #[arg(long, value_name = "KIND")]
    kind: Option<KindName>,
    /// API group of the kind; NAME.example.org, unless it is given
    #[arg(long, value_name = "GROUP")]
    group: Option<ApiGroup>,
    /// Where Gateward is: a folder with its sources, or a git URL; the release of this version, unless it is given
    #[arg(long, value_name = "PATH|GIT")]
    gateward: Option<String>,
}

impl Extension<Dynamo> for NewOperator {
    fn command(&self) -> Command {
        NewArguments::augment_args(Command::new("new"))
            .about("Write an operator to start from")
            .long_about(
                "Write an operator to start from into the folder NAME: a kind in two versions with rules, a default and \
                 a conversion, a controller, tests, a Makefile, an image, CI. Its README says how it is run and \
                 installed. Nothing is written unless all of it is, and never into a folder that holds something.",
            )
            .after_help(
                "Exit codes: 0 written; 2 nothing was written.\n\nExamples:\n  gateward new crontab\n  gateward new \
                 crontab-operator --kind CronTab --group stable.example.com\n  gateward new crontab --gateward \
                 https://github.com/gateward/gateward",
            )
    }

    fn run<'a>(
        &'a self,
        _: Dynamo,
        matches: &'a ArgMatches,
    ) -> Pin<Box<dyn Future<Output = anyhow::Result<Exit>> + 'a>> {
        Box::pin(ready(write(matches)))
    }
}

fn write(matches: &ArgMatches) -> anyhow::Result<Exit> {
    let NewArguments { name, kind, group, gateward } = NewArguments::from_arg_matches(matches)?;
    let kind = kind.map_or_else(|| KindName::of(&name), Ok)?;
    let group = group.unwrap_or_else(|| ApiGroup::of(&name));
    let dependency = match gateward {
        Some(place) => GatewardDependency::at(&place)?,
        None => GatewardDependency::released(),
    };
    let placeholders = Placeholders::new(&name, &kind, &group, &dependency);
    let files = template::FILES.iter().map(|file| (placeholders.put_into(file.path), placeholders.put_into(file.text)));
    folder::write(Path::new(name.as_str()), files)?;
    writeln!(
        anstream::stdout(),
        "wrote {name}: the kind {kind} of {group}, in the versions v1 and v2\n\n  cd {name}\n  make test    # builds it; \
         the first time takes some minutes\n  make run     # serves its webhooks on this machine\n\nIts README.md says how \
         it is installed in a cluster, and where things are."
    )?;
    Ok(Exit::Success)
}
