{{/* The labels that select a role's pods: (dict "role" "upload" "root" $) */}}
{{- define "sluice.selector" -}}
app.kubernetes.io/name: sluice
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{- define "sluice.labels" -}}
{{ include "sluice.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end }}

{{- define "sluice.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* INTERIM_RESPONSES is 0 behind nginx, which passes a 104 on to HTTP/2 clients as the final response. */}}
{{- define "sluice.settings" -}}
{{- $own := dict "BASE_URL" (printf "https://%s" .Values.host) -}}
{{- if .Values.sftp.enabled -}}
{{- $_ := set $own "SFTP_PORT" (toString .Values.sftp.port) -}}
{{- end -}}
{{- if .Values.ingress.enabled -}}
{{- $proxies := required "Set ingress.trustedProxies to the addresses or networks of the ingress controller's pods." .Values.ingress.trustedProxies -}}
{{- $_ := set $own "TRUSTED_PROXIES" $proxies -}}
{{- $_ := set $own "INTERIM_RESPONSES" (eq .Values.ingress.controller "haproxy" | ternary "1" "0") -}}
{{- end -}}
{{- merge (deepCopy .Values.settings) $own | toYaml -}}
{{- end }}
