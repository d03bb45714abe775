{{/*
The names of all objects are fixed: a cluster has one installation, and two webhooks that change the same pods would
disagree. Helm refuses a second release, because the objects belong to the first one.
*/}}

{{/* Labels of every object. The first two are also the selector of the pods. */}}
{{- define "fabric-admission.labels" -}}
{{ include "fabric-admission.selector" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "fabric-admission.selector" -}}
app.kubernetes.io/name: fabric-admission
app.kubernetes.io/component: webhook
{{- end }}

{{- define "fabric-admission.metadata" -}}
name: fabric-admission
namespace: {{ .Release.Namespace }}
labels:
  {{- include "fabric-admission.labels" . | nindent 2 }}
{{- end }}

{{- define "fabric-admission.serviceAccount" -}}
{{ .Values.serviceAccount.name | default "fabric-admission" }}
{{- end }}

{{/* The Secret with the server's certificate, where the server does not create the certificate itself. */}}
{{- define "fabric-admission.secret" -}}
{{ .Values.certificates.secretName | default "fabric-admission-tls" }}
{{- end }}

{{/* A value that YAML 1.1 reads as a Boolean when it is written without quotes: off. */}}
{{- define "fabric-admission.mode" -}}
{{ toString . | replace "false" "off" }}
{{- end }}

{{/*
Puts an object of files/ into this release: its labels and its namespace. Takes a list of the root and the object, changes
the object, and renders nothing.
*/}}
{{- define "fabric-admission.adopt" -}}
{{- $root := index . 0 }}
{{- $object := index . 1 }}
{{- $_ := set $object.metadata "labels" (include "fabric-admission.labels" $root | fromYaml) }}
{{- if $object.metadata.namespace }}
{{- $_ := set $object.metadata "namespace" $root.Release.Namespace }}
{{- end }}
{{- end }}

{{/* The ConfigMap's name has a hash of its content: a changed profile causes a rolling update, and pods of the old
version keep the old profiles. */}}
{{- define "fabric-admission.profilesConfigMap" -}}
{{- if .Values.profilesConfigMap -}}
{{ .Values.profilesConfigMap }}
{{- else -}}
fabric-admission-profiles-{{ toJson .Values.profiles | sha256sum | trunc 10 }}
{{- end }}
{{- end }}

{{- define "fabric-admission.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}
