{{- define "dynamo-operator.withoutEffect" -}}
- path: global.etcd
  why: this chart does not install it
- path: global.kai-scheduler
  why: a matter of the controllers
- path: global.model-express
  why: this chart does not install it
- path: global.nats
  why: this chart does not install it
- path: controllerManager.leaderElection
  why: webhooks serve without a leader, and the writer of certificates has a Lease of its own
- path: webhook.podCheckpointRestoreFailurePolicy
  why: there is no webhook for Pods
- path: namespaceRestriction.runNamespacedValidation
  why: an operator of one namespace always judges
- path: checkpoint.cleanupImage
  why: a matter of the controllers
- path: checkpoint.readyForCheckpointFilePath
  why: a matter of the controllers
- path: checkpoint.seccomp
  why: a matter of the controllers
- path: checkpoint.storage
  why: a matter of the controllers
- path: dynamo
  why: a matter of the controllers
- path: natsAddr
  why: a matter of the controllers
- path: nats
  why: a matter of the controllers
- path: etcd
  why: a matter of the controllers
- path: etcdAddr
  why: a matter of the controllers
- path: modelExpressURL
  why: a matter of the controllers
- path: discoveryBackend
  why: a matter of the controllers
- path: featureGates
  why: a matter of the controllers
{{- end -}}
