{{/* What is said after an installation. */}}
{{- define "dynamo-operator.notes" -}}
{{- $fullname := include "dynamo-operator.fullname" . -}}
The Dynamo Operator's webhooks {{ .Chart.AppVersion }} are installed in namespace {{ .Release.Namespace }}:
Deployment {{ $fullname }},
called through Service {{ include "dynamo-operator.serviceName" . }}
by {{ include "dynamo-operator.validatingName" . }} and {{ include "dynamo-operator.mutatingName" . }}.

They are ready when this returns:

  kubectl -n {{ .Release.Namespace }} rollout status deployment/{{ $fullname }}

Until then a pod says what it waits for:

  kubectl -n {{ .Release.Namespace }} port-forward deployment/{{ $fullname }} 8081 &
  curl 'http://localhost:8081/readyz?verbose'

{{ with include "dynamo-operator.restrictedTo" . -}}
DEPRECATED: this operator serves the namespace {{ . }} alone. It converts no objects and installs no CRDs: an operator
of the whole cluster has to be there for that, and serves every namespace by itself.
{{- if ne $.Values.webhook.failurePolicy "Fail" }}

With webhook.failurePolicy {{ $.Values.webhook.failurePolicy }}, the operator of the whole cluster goes on judging {{ . }} too.
{{- end }}
{{- else -}}
Before `helm uninstall`, run this, so that stored objects can be read and deleted without the webhooks:

  gateward uninstall --release {{ .Release.Name }} -n {{ .Release.Namespace }}{{ include "dynamo-operator.unusualService" . }}
{{- end }}
{{- with include "dynamo-operator.openPorts" . }}

The NetworkPolicy leaves these ports open to everybody:{{ . }}
{{- end }}
{{- with include "dynamo-operator.givenWithoutEffect" . }}

WARNING: these values are given and have no effect:{{ . }}
{{- end }}
{{- end -}}

{{/* A line for each port that the NetworkPolicy can't close, since the values do not say who needs it. */}}
{{- define "dynamo-operator.openPorts" -}}
{{- $prefix := ternary "" "dynamo-operator." (default false .Chart.IsRoot) -}}
{{- with .Values.networkPolicy }}
{{- if .enabled }}
{{- if not .apiServerCIDRs }}
  {{ $.Values.webhook.port }} (webhooks): set {{ $prefix }}networkPolicy.apiServerCIDRs
{{- end }}
{{- if not .nodeCIDRs }}
  8081 (probes): set {{ $prefix }}networkPolicy.nodeCIDRs
{{- end }}
{{- if not .metricsFrom }}
  8080 (metrics): set {{ $prefix }}networkPolicy.metricsFrom
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* An argument for a command that can't guess the Service's name from the release. */}}
{{- define "dynamo-operator.unusualService" -}}
{{- if or .Values.nameOverride .Values.fullnameOverride -}}
{{- print " --service " (include "dynamo-operator.serviceName" .) -}}
{{- end -}}
{{- end -}}

{{/* A line for each value that is given and that nothing here reads. */}}
{{- define "dynamo-operator.givenWithoutEffect" -}}
{{- $prefix := ternary "" "dynamo-operator." (default false .Chart.IsRoot) -}}
{{- range include "dynamo-operator.withoutEffect" . | fromYamlArray -}}
{{- if eq (include "dynamo-operator.given" (dict "value" $.Values "path" .path)) "true" }}
  {{ ternary "" $prefix (hasPrefix "global." .path) }}{{ .path }}: {{ .why }}
{{- end }}
{{- end }}
{{- include "dynamo-operator.givenInVain" . }}
{{- end -}}

{{/* A line for each value that is given and has no effect beside the others: its path, whether it has one, why not. */}}
{{- define "dynamo-operator.givenInVain" -}}
{{- $prefix := ternary "" "dynamo-operator." (default false .Chart.IsRoot) -}}
{{- $mode := include "dynamo-operator.mode" . -}}
{{- $restricted := include "dynamo-operator.restrictedTo" . -}}
{{- $network := (.Values.networkPolicy).enabled -}}
{{- $whole := "the whole cluster is served unless namespaceRestriction.enabled is true" -}}
{{- $unsaid := kindIs "invalid" .Values.metricsService.enabled -}}
{{- $scraped := or .Values.metricsService.enabled (and $unsaid (.Capabilities.APIVersions.Has "monitoring.coreos.com/v1/ServiceMonitor")) -}}
{{- $alerts := .Values.prometheusRule.enabled -}}
{{- $open := "there is no NetworkPolicy unless networkPolicy.enabled is true" -}}
{{- range list
  (list "webhook.caBundle" (ne $mode "auto") "it is for certificates of cert-manager or of your own")
  (list "webhook.certManager.issuerRef" (eq $mode "cert-manager") "cert-manager is not asked unless webhook.certManager.enabled is true")
  (list "namespaceRestriction.namespace" $restricted $whole)
  (list "namespaceRestriction.targetNamespace" $restricted $whole)
  (list "networkPolicy.apiServerCIDRs" $network $open)
  (list "networkPolicy.nodeCIDRs" $network $open)
  (list "networkPolicy.metricsFrom" $network $open)
  (list "admissionPolicy.namespaceLeases.writers" ((.Values.admissionPolicy).namespaceLeases).enabled "there is no policy unless admissionPolicy.namespaceLeases.enabled is true")
  (list "prometheusRule.enabled" (or $scraped (not $alerts)) "no alert fires without the ServiceMonitor, which metricsService.enabled: true brings")
  (list "prometheusRule.labels" $alerts "there is no PrometheusRule unless prometheusRule.enabled is true")
  (list "grafanaDashboard.annotations" .Values.grafanaDashboard.enabled "there is no dashboard unless grafanaDashboard.enabled is true")
}}
{{- if and (not (index . 1)) (eq (include "dynamo-operator.given" (dict "value" $.Values "path" (index . 0))) "true") }}
  {{ $prefix }}{{ index . 0 }}: {{ index . 2 }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Whether there is something at a path of keys joined by dots: "true" or not. */}}
{{- define "dynamo-operator.given" -}}
{{- $value := .value -}}
{{- range splitList "." .path -}}
{{- $here := dict -}}
{{- if kindIs "map" $value -}}{{- $here = $value -}}{{- end -}}
{{- $value = get $here . -}}
{{- end -}}
{{- or (kindIs "bool" $value) (not (empty $value)) -}}
{{- end -}}
