{{/* What the values schema can't see: how names and values go together. */}}
{{- define "dynamo-operator.validate" -}}
{{- $service := include "dynamo-operator.serviceName" . -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $service) -}}
{{- fail (printf "the Service would be named %q, which must begin with a letter and hold only letters, digits and hyphens: take another release name, or set %sfullnameOverride" $service (ternary "" "dynamo-operator." (default false .Chart.IsRoot))) -}}
{{- end -}}
{{- include "dynamo-operator.validateCertificates" . -}}
{{- include "dynamo-operator.validateRestriction" . -}}
{{- end -}}

{{/* Who makes certificates, and which CA is trusted. */}}
{{- define "dynamo-operator.validateCertificates" -}}
{{- $mode := include "dynamo-operator.mode" . -}}
{{- $prefix := ternary "" "dynamo-operator." (default false .Chart.IsRoot) -}}
{{- if and (eq $mode "cert-manager") .Values.webhook.certificateSecret.external -}}
{{- fail (printf "%swebhook.certManager.enabled and %swebhook.certificateSecret.external are both true: either cert-manager or you can write the Secret of the certificate" $prefix $prefix) -}}
{{- end -}}
{{- /* A list with kinds is that of a cluster, or was given: `helm template` alone knows groups and versions only. */ -}}
{{- $asked := .Capabilities.APIVersions.Has "apps/v1/Deployment" -}}
{{- if and (eq $mode "cert-manager") $asked (not (.Capabilities.APIVersions.Has "cert-manager.io/v1")) -}}
{{- fail (printf "%swebhook.certManager.enabled is true, but the cluster does not serve cert-manager.io/v1: install cert-manager first, with its CRDs" $prefix) -}}
{{- end -}}
{{- $issuer := default dict (.Values.webhook.certManager).issuerRef -}}
{{- if and (eq $mode "cert-manager") (not $issuer.name) (or $issuer.kind $issuer.group) -}}
{{- fail (printf "%swebhook.certManager.issuerRef has a kind or a group, but no name: set its name, or leave issuerRef empty, and the chart makes a CA" $prefix) -}}
{{- end -}}
{{- $bundle := include "dynamo-operator.caBundle" . -}}
{{- $give := printf "set %swebhook.caBundle to what `base64 -w0 < ca.crt` prints" $prefix -}}
{{- if and (eq $mode "external") (empty $bundle) -}}
{{- fail (printf "%swebhook.certificateSecret.external is true, but no CA is given, by which API servers could verify the certificate: %s" $prefix $give) -}}
{{- end -}}
{{- if and (ne $mode "auto") (not (empty $bundle)) -}}
{{- if not (regexMatch "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$" $bundle) -}}
{{- fail (printf "%swebhook.caBundle is not base64: %s" $prefix $give) -}}
{{- end -}}
{{- if not (regexMatch "-----BEGIN CERTIFICATE-----" (b64dec $bundle)) -}}
{{- fail (printf "%swebhook.caBundle holds no certificate in PEM: %s" $prefix $give) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What can't be for an operator of one namespace. */}}
{{- define "dynamo-operator.validateRestriction" -}}
{{- $prefix := ternary "" "dynamo-operator." (default false .Chart.IsRoot) -}}
{{- $restriction := default dict .Values.namespaceRestriction -}}
{{- if $restriction.enabled -}}
{{- if and $restriction.namespace $restriction.targetNamespace (ne $restriction.namespace $restriction.targetNamespace) -}}
{{- fail (printf "%snamespaceRestriction.namespace is %q and %snamespaceRestriction.targetNamespace is %q: they mean the same, so give one of them" $prefix $restriction.namespace $prefix $restriction.targetNamespace) -}}
{{- end -}}
{{- if eq (include "dynamo-operator.restrictedTo" .) "kube-system" -}}
{{- fail (printf "%snamespaceRestriction.namespace: nothing in kube-system is ever judged, so that a cluster can be mended; take another namespace" $prefix) -}}
{{- end -}}
{{- if .Values.webhook.namespaceSelector -}}
{{- fail (printf "leave %swebhook.namespaceSelector empty: an operator of one namespace judges that one, whatever its labels are" $prefix) -}}
{{- end -}}
{{- if .Values.webhook.excludeClaimedNamespaces -}}
{{- fail (printf "leave %swebhook.excludeClaimedNamespaces false: it is for an operator of the whole cluster" $prefix) -}}
{{- end -}}
{{- end -}}
{{- end -}}
