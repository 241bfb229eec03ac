{{/*
A name made of a base and a suffix that fits its kind's limit. One that fits stays as it is; otherwise the base is cut
and ends in eight digits of its hash, so that two long names don't become one. The server derives its names alike.
Takes a dict of base, suffix and limit.
*/}}
{{- define "dynamo-operator.derived" -}}
{{- $whole := print .base .suffix -}}
{{- if le (len $whole) (int .limit) -}}
{{- $whole -}}
{{- else -}}
{{- $room := int (sub .limit (add 9 (len .suffix))) -}}
{{- printf "%s-%s%s" (regexReplaceAll "[-.]+$" (trunc $room .base) "") (sha256sum .base | trunc 8) .suffix -}}
{{- end -}}
{{- end -}}

{{/* What most names begin with. */}}
{{- define "dynamo-operator.fullname" -}}
{{- $base := default (printf "%s-%s" .Release.Name (default "dynamo-operator" .Values.nameOverride)) .Values.fullnameOverride -}}
{{- $base | trimSuffix "-" -}}
{{- end -}}

{{/* A Service's name is one label of a DNS name. */}}
{{- define "dynamo-operator.serviceName" -}}
{{- include "dynamo-operator.derived" (dict "base" (include "dynamo-operator.fullname" .) "suffix" "-webhook-service" "limit" 63) -}}
{{- end -}}

{{- define "dynamo-operator.metricsServiceName" -}}
{{- include "dynamo-operator.derived" (dict "base" (include "dynamo-operator.fullname" .) "suffix" "-metrics-service" "limit" 63) -}}
{{- end -}}

{{- define "dynamo-operator.configName" -}}
{{- include "dynamo-operator.derived" (dict "base" (include "dynamo-operator.fullname" .) "suffix" "-config" "limit" 253) -}}
{{- end -}}

{{- define "dynamo-operator.dashboardName" -}}
{{- include "dynamo-operator.derived" (dict "base" (include "dynamo-operator.fullname" .) "suffix" "-dashboard" "limit" 253) -}}
{{- end -}}

{{/* The series of this release, in an expression of Prometheus: the ServiceMonitor gives them the Service's name. */}}
{{- define "dynamo-operator.metricsSelector" -}}
namespace='{{ .Release.Namespace }}',job='{{ include "dynamo-operator.metricsServiceName" . }}'
{{- end -}}

{{- define "dynamo-operator.leaseName" -}}
{{- include "dynamo-operator.derived" (dict "base" (include "dynamo-operator.fullname" .) "suffix" "-webhook-writer" "limit" 253) -}}
{{- end -}}

{{- define "dynamo-operator.secretName" -}}
{{- .Values.webhook.certificateSecret.name -}}
{{- end -}}

{{- define "dynamo-operator.caSecretName" -}}
{{- include "dynamo-operator.derived" (dict "base" (include "dynamo-operator.secretName" .) "suffix" "-ca" "limit" 253) -}}
{{- end -}}

{{/* What cert-manager injects. */}}
{{- define "dynamo-operator.bundleSecretName" -}}
{{- include "dynamo-operator.derived" (dict "base" (include "dynamo-operator.secretName" .) "suffix" "-bundle" "limit" 253) -}}
{{- end -}}

{{- define "dynamo-operator.servingCertificateName" -}}
{{- include "dynamo-operator.derived" (dict "base" (include "dynamo-operator.fullname" .) "suffix" "-serving-cert" "limit" 253) -}}
{{- end -}}

{{- define "dynamo-operator.validatingName" -}}
{{- .Release.Name }}-validating
{{- with include "dynamo-operator.restrictedTo" . }}-{{ . }}{{ end }}
{{- end -}}

{{- define "dynamo-operator.mutatingName" -}}
{{- .Release.Name }}-mutating
{{- with include "dynamo-operator.restrictedTo" . }}-{{ . }}{{ end }}
{{- end -}}

{{/* The one namespace that the operator serves; empty for the whole cluster. */}}
{{- define "dynamo-operator.restrictedTo" -}}
{{- with .Values.namespaceRestriction -}}
{{- if .enabled -}}
{{- coalesce .namespace .targetNamespace $.Release.Namespace -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* "true" where the pods install the CRDs: those of one namespace leave them to an operator of the whole cluster. */}}
{{- define "dynamo-operator.installsCRDs" -}}
{{- if and .Values.upgradeCRD (not (include "dynamo-operator.restrictedTo" .)) -}}true{{- end -}}
{{- end -}}

{{- define "dynamo-operator.namespaceLeaseRoleName" -}}
{{- include "dynamo-operator.derived" (dict "base" (include "dynamo-operator.fullname" .) "suffix" "-namespace-lease" "limit" 253) -}}
{{- end -}}
