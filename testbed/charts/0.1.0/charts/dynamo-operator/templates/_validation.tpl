{{/* What the values schema can't see: how names and values go together. */}}
{{- define "dynamo-operator.validate" -}}
{{- $service := include "dynamo-operator.serviceName" . -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $service) -}}
{{- fail (printf "the Service would be named %q, which must begin with a letter and hold only letters, digits and hyphens: take another release name, or set fullnameOverride" $service) -}}
{{- end -}}
{{- end -}}
