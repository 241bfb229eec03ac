{{/*
Installs and upgrades the CRDs before the server starts. Helm never upgrades what stands in crds/, and deletes what stands
in templates/ together with its objects; neither could name the Service of this release in a CRD's conversion.
*/}}
{{- define "%chart%.crds" -}}
- name: crds
  image: {{ include "%chart%.image" . | quote }}
  {{- with .Values.image.pullPolicy }}
  imagePullPolicy: {{ . }}
  {{- end }}
  command:
  - %command%
  args:
  - crds
  - apply
  - --conversion-webhook-service-name
  - {{ include "%chart%.service" . | quote }}
  - --conversion-webhook-service-namespace
  - {{ .Release.Namespace | quote }}
  {{- if eq .Values.certificates.mode "external" }}
  - --ca-bundle
  - {{ .Values.certificates.caBundle | quote }}
  {{- else if eq .Values.certificates.mode "cert-manager" }}
  - --inject-ca-from-secret
  - "{{ .Release.Namespace }}/%bundle-secret%"
  {{- else }}
  - --ca-secret
  - "%ca-secret%"
  {{- end }}
  resources: {{- toYaml .Values.resources | nindent 4 }}
  securityContext:
%security-context%
{{- end -}}
