{{/* Who provides certificates and caBundles, as the server's configuration names it. */}}
{{- define "dynamo-operator.mode" -}}
{{- if (.Values.webhook.certManager).enabled -}}
cert-manager
{{- else if .Values.webhook.certificateSecret.external -}}
external
{{- else -}}
auto
{{- end -}}
{{- end -}}

{{/* The CAs that the user gives, without the line breaks of `base64`. */}}
{{- define "dynamo-operator.caBundle" -}}
{{- regexReplaceAll "\\s" (default "" .Values.webhook.caBundle) "" -}}
{{- end -}}

{{- define "dynamo-operator.injectFrom" -}}
{{- default "secret" (.Values.webhook.certManager).injectFrom -}}
{{- end -}}

{{/* The annotation by which the cainjector of cert-manager writes the caBundle of an object. */}}
{{- define "dynamo-operator.injection" -}}
{{- if eq (include "dynamo-operator.mode" .) "cert-manager" -}}
{{- if eq (include "dynamo-operator.injectFrom" .) "certificate" -}}
cert-manager.io/inject-ca-from: {{ printf "%s/%s" .Release.Namespace (include "dynamo-operator.servingCertificateName" .) | quote }}
{{- else -}}
cert-manager.io/inject-ca-from-secret: {{ printf "%s/%s" .Release.Namespace (include "dynamo-operator.bundleSecretName" .) | quote }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The arguments of `crds apply` for the caBundle of conversions. */}}
{{- define "dynamo-operator.crdTrust" -}}
{{- $mode := include "dynamo-operator.mode" . -}}
{{- if eq $mode "external" -}}
- --ca-bundle
- {{ include "dynamo-operator.caBundle" . | quote }}
{{- else if and (eq $mode "cert-manager") (eq (include "dynamo-operator.injectFrom" .) "certificate") -}}
- --inject-ca-from
- {{ printf "%s/%s" .Release.Namespace (include "dynamo-operator.servingCertificateName" .) | quote }}
{{- else if eq $mode "cert-manager" -}}
- --inject-ca-from-secret
- {{ printf "%s/%s" .Release.Namespace (include "dynamo-operator.bundleSecretName" .) | quote }}
{{- else -}}
- --ca-secret
- {{ include "dynamo-operator.caSecretName" . | quote }}
{{- end -}}
{{- end -}}
