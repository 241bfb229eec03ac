{{/* What is said after an installation. */}}
{{- define "dynamo-operator.notes" -}}
{{- $fullname := include "dynamo-operator.fullname" . -}}
The Dynamo Operator's webhooks {{ .Chart.AppVersion }} are installed in namespace {{ .Release.Namespace }}:
Deployment {{ $fullname }}, called through Service {{ include "dynamo-operator.serviceName" . }}
by {{ include "dynamo-operator.validatingName" . }} and {{ include "dynamo-operator.mutatingName" . }}.

They are ready when this returns:

  kubectl -n {{ .Release.Namespace }} rollout status deployment/{{ $fullname }}

Before `helm uninstall {{ .Release.Name }}`, run

  gateward uninstall --release {{ .Release.Name }} -n {{ .Release.Namespace }}

It rewrites stored objects in the version that stays readable without a webhook.
{{- end -}}
