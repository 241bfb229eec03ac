{{/* What the values schema can't see: how names and values go together. */}}
{{- define "dynamo-operator.validate" -}}
{{- $service := include "dynamo-operator.serviceName" . -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $service) -}}
{{- fail (printf "the Service would be named %q, which must begin with a letter and hold only letters, digits and hyphens: take another release name, or set fullnameOverride" $service) -}}
{{- end -}}
{{- include "dynamo-operator.validateRestriction" . -}}
{{- end -}}

{{/* What can't be for an operator of one namespace. */}}
{{- define "dynamo-operator.validateRestriction" -}}
{{- $restriction := default dict .Values.namespaceRestriction -}}
{{- if $restriction.enabled -}}
{{- if and $restriction.namespace $restriction.targetNamespace (ne $restriction.namespace $restriction.targetNamespace) -}}
{{- fail (printf "namespaceRestriction.namespace is %q and namespaceRestriction.targetNamespace is %q: they mean the same, so give one of them" $restriction.namespace $restriction.targetNamespace) -}}
{{- end -}}
{{- if eq (include "dynamo-operator.restrictedTo" .) "kube-system" -}}
{{- fail "namespaceRestriction.namespace: nothing in kube-system is ever judged, so that a cluster can be mended; take another namespace" -}}
{{- end -}}
{{- if .Values.webhook.namespaceSelector -}}
{{- fail "leave webhook.namespaceSelector empty: an operator of one namespace judges that one, whatever its labels are" -}}
{{- end -}}
{{- if .Values.webhook.excludeClaimedNamespaces -}}
{{- fail "leave webhook.excludeClaimedNamespaces false: it is for an operator of the whole cluster" -}}
{{- end -}}
{{- end -}}
{{- end -}}
