{{/* What the pods are found by. */}}
{{- define "dynamo-operator.selectorLabels" -}}
app.kubernetes.io/name: dynamo-operator
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: webhook
{{- end -}}

{{- define "dynamo-operator.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/created-by: dynamo-operator
app.kubernetes.io/part-of: dynamo-operator
{{ include "dynamo-operator.selectorLabels" . }}
{{- end -}}

{{/*
The namespaces whose objects are judged. Without kube-system a cluster can be mended while the webhooks fail.
*/}}
{{- define "dynamo-operator.namespaceSelector" -}}
{{- with include "dynamo-operator.restrictedTo" . }}
matchLabels:
  kubernetes.io/metadata.name: {{ . | quote }}
{{- else }}
{{- $given := default dict .Values.webhook.namespaceSelector -}}
{{- $apart := dict "key" "kubernetes.io/metadata.name" "operator" "NotIn" "values" (list "kube-system") -}}
{{- with $given.matchLabels }}
matchLabels:
  {{- toYaml . | nindent 2 }}
{{- end }}
matchExpressions:
{{- toYaml (append (default list $given.matchExpressions) $apart) | nindent 0 }}
{{- end }}
{{- end -}}

{{/* What is null is left out: it is how values are taken away, and to the API server it would be zero. */}}
{{- define "dynamo-operator.resources" -}}
{{- $whole := dict -}}
{{- range $part, $given := default dict .Values.controllerManager.manager.resources -}}
{{- if kindIs "map" $given -}}
{{- $kept := dict -}}
{{- range $name, $amount := $given -}}
{{- if not (kindIs "invalid" $amount) -}}{{- $_ := set $kept $name $amount -}}{{- end -}}
{{- end -}}
{{- $_ := set $whole $part $kept -}}
{{- else if not (kindIs "invalid" $given) -}}
{{- $_ := set $whole $part $given -}}
{{- end -}}
{{- end -}}
{{- toYaml $whole -}}
{{- end -}}

{{- define "dynamo-operator.image" -}}
{{- with .Values.controllerManager.manager.image -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}

{{/* Spread constraints, each with a selector: without one it would count no pods. */}}
{{- define "dynamo-operator.topologySpreadConstraints" -}}
{{- $selector := dict "matchLabels" (include "dynamo-operator.selectorLabels" . | fromYaml) -}}
{{- $whole := list -}}
{{- range .Values.controllerManager.topologySpreadConstraints -}}
{{- $ours := dict "labelSelector" $selector "matchLabelKeys" (list "pod-template-hash") -}}
{{- $whole = append $whole (ternary . (merge (deepCopy .) $ours) (hasKey . "labelSelector")) -}}
{{- end -}}
{{- toYaml $whole -}}
{{- end -}}
