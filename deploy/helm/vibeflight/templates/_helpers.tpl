{{- define "vibeflight.name" -}}
{{- if contains "vibeflight" .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-vibeflight" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "vibeflight.peers" -}}
{{- printf "%s-peers" (include "vibeflight.name" .) -}}
{{- end }}

{{- define "vibeflight.selector" -}}
app.kubernetes.io/name: vibeflight
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "vibeflight.labels" -}}
{{ include "vibeflight.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "vibeflight.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "vibeflight.name" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end }}

{{- define "vibeflight.login" -}}
{{- $v := .Values -}}
{{- if or $v.login.users.secret $v.login.tokens.secret $v.login.oidc.issuer $v.tls.clientCaSecret -}}true{{- end -}}
{{- end }}

{{- /* What the server would refuse at its start, said before anything is installed. */ -}}
{{- define "vibeflight.check" -}}
{{- $v := .Values -}}
{{- if not (or $v.insecure (and $v.tls.secret (include "vibeflight.login" .))) -}}
{{- fail "set tls.secret and a login (login.users, login.tokens, login.oidc or tls.clientCaSecret), or insecure: true" -}}
{{- end -}}
{{- if and (include "vibeflight.login" .) (not $v.login.sessionKeys.secret) -}}
{{- fail "set login.sessionKeys.secret: without it, a session of one server is unknown to the others" -}}
{{- end -}}
{{- if and $v.login.grants.configMap (not (include "vibeflight.login" .)) -}}
{{- fail "login.grants needs a login" -}}
{{- end -}}
{{- end }}

{{- /* Folders below /etc/vibeflight and where their files come from. The server reads them again when they change. */ -}}
{{- define "vibeflight.files" -}}
{{- $v := .Values -}}
{{- if $v.config }}
config: {configMap: {name: {{ include "vibeflight.name" . }}}}
{{- end }}
{{- with $v.tls.secret }}
tls: {secret: {secretName: {{ . }}}}
{{- end }}
{{- with $v.tls.peerCaSecret }}
peer-ca: {secret: {secretName: {{ . }}, items: [{key: ca.crt, path: ca.crt}]}}
{{- end }}
{{- with $v.tls.clientCaSecret }}
client-ca: {secret: {secretName: {{ . }}, items: [{key: ca.crt, path: ca.crt}]}}
{{- end }}
{{- with $v.store.caSecret }}
postgres-ca: {secret: {secretName: {{ . }}, items: [{key: ca.crt, path: ca.crt}]}}
{{- end }}
{{- with $v.login.users.secret }}
users: {secret: {secretName: {{ . }}}}
{{- end }}
{{- with $v.login.tokens.secret }}
tokens: {secret: {secretName: {{ . }}}}
{{- end }}
{{- with $v.login.sessionKeys.secret }}
session-keys: {secret: {secretName: {{ . }}}}
{{- end }}
{{- with $v.login.grants.configMap }}
grants: {configMap: {name: {{ . }}}}
{{- end }}
{{- end }}
