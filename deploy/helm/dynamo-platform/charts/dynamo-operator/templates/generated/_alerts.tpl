{{- define "dynamo-operator.alerts" -}}
groups:
- name: gateward
  rules:
  - alert: GatewardCertificateExpiring
    annotations:
      description: The {{`{{ $labels.certificate }}`}} certificate in namespace {{`{{ $labels.namespace }}`}} ends in {{`{{ $value | humanizeDuration }}`}}, and nothing has renewed it.
      runbook_url: https://github.com/gateward/gateward/blob/main/docs/troubleshooting.md#gatewardcertificateexpiring
      summary: A certificate of the webhooks ends within seven days.
    expr: min by (namespace, certificate) (gateward_certificate_expiry_timestamp_seconds{ {{ include "dynamo-operator.metricsSelector" . }} }) - time() < 7 * 86400
    for: 15m
    labels:
      severity: critical
  - alert: GatewardInjectionTargetLacksCA
    annotations:
      description: "{{`{{ $value }}`}} injection targets of the release in namespace {{`{{ $labels.namespace }}`}} lack the expected CA. API servers refuse the calls of those."
      runbook_url: https://github.com/gateward/gateward/blob/main/docs/troubleshooting.md#gatewardinjectiontargetlacksca
      summary: A webhook configuration or a CRD doesn't trust the webhooks.
    expr: max by (namespace) (gateward_ca_injection_targets{ {{ include "dynamo-operator.metricsSelector" . }} ,state='lacking'}) > 0
    for: 10m
    labels:
      severity: critical
  - alert: GatewardNoInjectionTarget
    annotations:
      description: The release in namespace {{`{{ $labels.namespace }}`}} doesn't find each of its webhook configurations and CRDs. What an absent one would send is not validated.
      runbook_url: https://github.com/gateward/gateward/blob/main/docs/troubleshooting.md#gatewardnoinjectiontarget
      summary: Webhook configurations or CRDs are absent.
    expr: max by (namespace) (gateward_ca_injection_targets{ {{ include "dynamo-operator.metricsSelector" . }} ,state='matched'}) == 0 or max by (namespace) (gateward_ca_injection_targets{ {{ include "dynamo-operator.metricsSelector" . }} ,state='absent'}) > 0
    for: 10m
    labels:
      severity: warning
  - alert: GatewardRotationStuck
    annotations:
      description: The CA rotation of the release in namespace {{`{{ $labels.namespace }}`}} has been under way for half an hour; it takes a minute.
      runbook_url: https://github.com/gateward/gateward/blob/main/docs/troubleshooting.md#gatewardrotationstuck
      summary: A CA rotation doesn't get on.
    expr: max by (namespace) (gateward_ca_rotation_phase{ {{ include "dynamo-operator.metricsSelector" . }} ,phase!='none'}) > 0
    for: 30m
    labels:
      severity: warning
  - alert: GatewardNoLeader
    annotations:
      description: No replica of the release in namespace {{`{{ $labels.namespace }}`}} holds the lease, so that nothing is renewed and nothing restored; or Prometheus reads the metrics of none, and no other alert can fire.
      runbook_url: https://github.com/gateward/gateward/blob/main/docs/troubleshooting.md#gatewardnoleader
      summary: No replica writes certificates and caBundles, or none shows metrics.
    expr: max by (namespace) (gateward_leader{ {{ include "dynamo-operator.metricsSelector" . }} }) == 0 or absent(gateward_leader{ {{ include "dynamo-operator.metricsSelector" . }} })
    for: 5m
    labels:
      severity: warning
  - alert: GatewardReviewsShed
    annotations:
      description: Replicas in namespace {{`{{ $labels.namespace }}`}} have answered {{`{{ $value | humanize }}`}} requests with 429 within five minutes; the limit is {{`{{ $labels.limit }}`}}.
      runbook_url: https://github.com/gateward/gateward/blob/main/docs/troubleshooting.md#gatewardreviewsshed
      summary: The webhooks refuse requests for overload.
    expr: sum by (namespace, limit) (increase(dynamo_operator_webhook_shed_total{ {{ include "dynamo-operator.metricsSelector" . }} }[5m])) > 0
    for: 5m
    labels:
      severity: critical
  - alert: GatewardReviewsFailed
    annotations:
      description: Replicas in namespace {{`{{ $labels.namespace }}`}} have answered {{`{{ $value | humanize }}`}} requests ({{`{{ $labels.review }}`}}) with {{`{{ $labels.code }}`}} within five minutes.
      runbook_url: https://github.com/gateward/gateward/blob/main/docs/troubleshooting.md#gatewardreviewsfailed
      summary: The webhooks answer reviews with errors.
    expr: sum by (namespace, review, code) (increase(dynamo_operator_webhook_errors_total{ {{ include "dynamo-operator.metricsSelector" . }} ,code=~'5..'}[5m])) > 0
    for: 5m
    labels:
      severity: critical
  - alert: GatewardConflictingConfiguration
    annotations:
      description: "{{`{{ $labels.configuration }}`}} concerns the kinds that the release in namespace {{`{{ $labels.namespace }}`}} judges, so that objects are judged twice."
      runbook_url: https://github.com/gateward/gateward/blob/main/docs/troubleshooting.md#gatewardconflictingconfiguration
      summary: Another webhook configuration is for the same kinds.
    expr: max by (namespace, configuration) (gateward_rival_configuration{ {{ include "dynamo-operator.metricsSelector" . }} }) > 0
    for: 10m
    labels:
      severity: warning
  - alert: GatewardIncompleteViews
    annotations:
      description: "{{`{{ $value | humanize }}`}} objects of kind {{`{{ $labels.resource_type }}`}} were given to clients with the label gateward.dev/incomplete within fifteen minutes. A client that writes such a view back loses what it lacks."
      runbook_url: https://github.com/gateward/gateward/blob/main/docs/troubleshooting.md#gatewardincompleteviews
      summary: Objects were read in a version that can't say all that is stored.
    expr: sum by (namespace, resource_type) (increase(dynamo_operator_webhook_incomplete_views_total{ {{ include "dynamo-operator.metricsSelector" . }} }[15m])) > 0
    for: 0m
    labels:
      severity: warning
  - alert: GatewardLeasesUnreadable
    annotations:
      description: Replicas in namespace {{`{{ $labels.namespace }}`}} can't read the leases by which operators claim their namespaces. Claims that they know expire, and what is claimed is judged twice.
      runbook_url: https://github.com/gateward/gateward/blob/main/docs/troubleshooting.md#gatewardleasesunreadable
      summary: The leases of other operators can't be read.
    expr: max by (namespace) (gateward_lease_unreadable{ {{ include "dynamo-operator.metricsSelector" . }} }) > 0
    for: 5m
    labels:
      severity: warning
{{- end -}}
