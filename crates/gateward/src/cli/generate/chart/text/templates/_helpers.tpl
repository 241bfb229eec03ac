{{/* The labels by which the Pods of a release are found. */}}
{{- define "%chart%.labels" -}}
%labels%
{{- end -}}

{{/* The Deployment, the ServiceAccount and what it may do. */}}
{{- define "%chart%.account" -}}%account%{{- end -}}

{{/* The Service that API servers call. */}}
{{- define "%chart%.service" -}}%service%{{- end -}}

{{/* What the schema of the values can't see: the name of the Service is one label of a DNS name. */}}
{{- define "%chart%.check" -}}
{{- $name := include "%chart%.service" . -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$" $name) -}}
{{- fail (printf "the Service would be named %q, which has to begin with a letter and to have at most 63 characters: take another release name" $name) -}}
{{- end -}}
{{- end -}}

{{/* The image of all containers. */}}
{{- define "%chart%.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ with .tag }}:{{ . }}{{ end }}{{ with .digest }}@{{ . }}{{ end }}
{{- end -}}
{{- end -}}

{{/* Spread constraints, each with a selector: without one it would count no Pods. */}}
{{- define "%chart%.topologySpreadConstraints" -}}
{{- $selector := dict "matchLabels" (include "%chart%.labels" . | fromYaml) -}}
{{- $whole := list -}}
{{- range .Values.topologySpreadConstraints -}}
{{- $ours := dict "labelSelector" $selector "matchLabelKeys" (list "pod-template-hash") -}}
{{- $whole = append $whole (ternary . (merge (deepCopy .) $ours) (hasKey . "labelSelector")) -}}
{{- end -}}
{{- toYaml $whole -}}
{{- end -}}

{{/* The configuration that the Pods read when they start. */}}
{{- define "%chart%.config" -}}
%config%
{{- end -}}
