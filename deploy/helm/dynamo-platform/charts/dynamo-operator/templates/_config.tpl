{{/* The server's configuration file. What the chart doesn't say has the server's default. */}}
{{- define "dynamo-operator.config" -}}
apiVersion: operator.config.dynamo.nvidia.com/v1alpha1
kind: OperatorConfiguration
server:
  metrics:
    port: 8080
    secure: true
  healthProbe:
    port: 8081
  webhook:
    port: {{ .Values.webhook.port }}
    {{- $mode := include "dynamo-operator.mode" . }}
    certProvisionMode: {{ $mode }}
    {{- if ne $mode "auto" }}
    {{- with include "dynamo-operator.caBundle" . }}
    caBundle: {{ . | quote }}
    {{- end }}
    {{- end }}
    {{- if eq $mode "cert-manager" }}
    certManager:
      injectFrom: {{ include "dynamo-operator.injectFrom" . }}
    {{- end }}
    secretName: {{ include "dynamo-operator.secretName" . | quote }}
    serviceName: {{ include "dynamo-operator.serviceName" . | quote }}
    fullname: {{ include "dynamo-operator.fullname" . | quote }}
    {{- with .Values.webhook.operatorPrincipals }}
    operatorPrincipals:
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- if .Values.webhook.excludeClaimedNamespaces }}
    excludeClaimedNamespaces: true
    {{- end }}
    {{- with .Values.webhook.certificates }}
    certificates:
      caLifetime: {{ .caLifetime | quote }}
      lifetime: {{ .lifetime | quote }}
      keyAlgorithm: {{ .keyAlgorithm | quote }}
      {{- with .dnsNames }}
      dnsNames:
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- end }}
{{- include "dynamo-operator.namespaceConfig" . }}
{{- if eq (toString (default dict .Values.gpuDiscovery).enabled) "false" }}
gpu:
  discoveryEnabled: false
{{- end }}
{{- with include "dynamo-operator.grove" . }}
orchestrators:
  grove:
    enabled: {{ . }}
{{- end }}
{{- if ((.Values.checkpoint).enabled) }}
checkpoint:
  enabled: true
{{- end }}
{{- end -}}

{{/* The one namespace that is served, and the times of its Lease. */}}
{{- define "dynamo-operator.namespaceConfig" -}}
{{- with include "dynamo-operator.restrictedTo" . }}
namespace:
  restricted: {{ . | quote }}
  {{- with $.Values.namespaceRestriction.lease }}
  scope:
    {{- with .duration }}
    leaseDuration: {{ . | quote }}
    {{- end }}
    {{- with .renewInterval }}
    leaseRenewInterval: {{ . | quote }}
    {{- end }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* "true" or "false" where somebody says whether Grove is there; the server looks for itself otherwise. */}}
{{- define "dynamo-operator.grove" -}}
{{- $grove := default dict ((.Values.global).grove) -}}
{{- if or $grove.enabled $grove.install -}}
true
{{- else if kindIs "bool" $grove.enabled -}}
false
{{- end -}}
{{- end -}}
