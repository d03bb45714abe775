//! The containers as JSON.

use super::monitor_flags::MonitorFlags;
use super::monitor_resources::resources_json_of_monitor;
use super::preflight_resources::{resources_json_of_install, resources_json_of_preflight};
use super::raw_pod_text::entries;
use super::volume_mount_json::mount;
use super::which_containers_are_added::ContainersToAdd;
use crate::json::write::{json_of_list, json_of_pairs, json_of_text};
use crate::nccl::Transport;
use crate::plan::annotation_names_and_paths::{NCCL_CONF_PATH, SHM_PATH};
use crate::plan::{Edit, Plan};
use crate::pod::PodView;
use crate::pod::which_containers_webhook_added::{
    IMAGE_PATH, INSTALL_CONTAINER, MONITOR_CONTAINER, PREFLIGHT_CONTAINER, PROGRAM, PROGRAM_VOLUME_PATH,
};
use crate::preflight::expectation_document::{Expectation, VARIABLE};
use crate::profile::{Monitor, Preflight, PreflightInstall};
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeMap;

/// User of our image, for pods whose own user is root.
const USER: &str = "65532";
/// Where the API server's plugin ServiceAccount mounts the token, unless the container mounts something there
/// (k8s.io/kubernetes plugin/pkg/admission/serviceaccount/admission.go). Our containers need no token.
const TOKEN_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// Empty directory of our volume that stands in its place.
const NO_TOKEN: &str = "no-token";

/// Writes the containers.
pub(super) struct AddedContainerWriter<'w> {
    pub(super) pod: &'w PodView<'w>,
    pub(super) plan: &'w Plan,
    pub(super) place: &'w ContainersToAdd<'w>,
}

impl AddedContainerWriter<'_> {
    /// Copies the program.
    pub(super) fn install_container_json(&self, image: &str) -> String {
        let first = self.plan.targets.first().and_then(|t| self.pod.containers().get(t.index));
        let mut members = vec![
            ("name", json_of_text(INSTALL_CONTAINER)),
            ("image", json_of_text(image)),
            ("args", json_of_list(&["preflight", "--install", PROGRAM_VOLUME_PATH].map(json_of_text))),
        ];
        members.extend(first.and_then(resources_json_of_install).map(|resources| ("resources", resources)));
        members.push(("volumeMounts", json_of_list(&[self.run(false), self.no_token()])));
        members.push(("securityContext", self.restricted()));
        json_of_pairs(&members)
    }

    /// Checks the fabric as the container at `target` will see it.
    pub(super) fn preflight_container_json(
        &self,
        preflight: &Preflight,
        target: usize,
        expected: &Expectation,
    ) -> String {
        let Some(container) = self.pod.containers().get(target) else { return json_of_pairs(&[]) };
        let raw = self.place.raw.container(target);
        let program = match preflight.install {
            PreflightInstall::Copy => format!("{PROGRAM_VOLUME_PATH}/{PROGRAM}"),
            PreflightInstall::ImageVolume => format!("{IMAGE_PATH}/{PROGRAM}"),
        };
        let edits = || self.plan.changes_of_container(target).iter().map(|c| &c.edit);
        let mut env: Vec<String> =
            entries(raw.and_then(|r| r.env.as_ref())).map(|(_, text)| text.to_owned()).collect();
        let variable = |name: &str, value: &str| {
            json_of_pairs(&[("name", json_of_text(name)), ("value", json_of_text(value))])
        };
        env.extend(edits().filter_map(|edit| match edit {
            Edit::Env { name, value, .. } => Some(variable(name, value)),
            _ => None,
        }));
        // The kubelet expands $(NAME) in values; $$ is one $ (k8s.io/kubernetes third_party/forked/golang/expansion).
        env.push(variable(VARIABLE, &expected.to_text().replace('$', "$$")));
        let at_conf = container.mount_at(NCCL_CONF_PATH).filter(|_| self.place.readers.contains(&target));
        let kept = entries(raw.and_then(|r| r.volume_mounts.as_ref()))
            .filter(|(index, _)| at_conf.is_none_or(|(at, _)| at != *index));
        let mut mounts: Vec<String> = kept.map(|(_, text)| text.to_owned()).collect();
        mounts.extend(edits().filter_map(|edit| match edit {
            Edit::FileMount { path, .. } if *path == NCCL_CONF_PATH => None,
            edit if edit.is_mount() => {
                let mut text = String::new();
                edit.push_mount(&mut text);
                Some(text)
            }
            _ => None,
        }));
        mounts.push(self.run(false));
        if let Some(name) = &self.place.image_volume {
            mounts.push(mount(name, IMAGE_PATH, None, true));
        }
        let mut members = vec![("name", json_of_text(PREFLIGHT_CONTAINER))];
        members.extend(raw.and_then(|r| r.image).map(|image| ("image", image.get().to_owned())));
        members
            .extend(raw.and_then(|r| r.image_pull_policy).map(|p| ("imagePullPolicy", p.get().to_owned())));
        members.push(("command", json_of_list(&[json_of_text(&program)])));
        let args = ["preflight", "--termination-message", "/dev/termination-log"];
        members.push(("args", json_of_list(&args.map(json_of_text))));
        members.push(("env", json_of_list(&env)));
        members.extend(raw.and_then(|r| r.env_from).map(|sources| ("envFrom", sources.get().to_owned())));
        let resources = resources_json_of_preflight(self.pod, self.plan, container);
        members.extend(resources.map(|resources| ("resources", resources)));
        members.push(("volumeMounts", json_of_list(&mounts)));
        members.extend(self.security_context(target));
        json_of_pairs(&members)
    }

    /// Exports the counters. The transport is a flag too, because facts may be missing or of another release.
    pub(super) fn monitor_container_json(
        &self,
        monitor: &Monitor,
        transport: Transport,
        flags: MonitorFlags,
    ) -> String {
        let port = json_of_pairs(&[
            ("name", json_of_text("fabric-metrics")),
            ("containerPort", monitor.port.to_string()),
            ("protocol", json_of_text("TCP")),
        ]);
        let (listen, facts) = (format!(":{}", monitor.port), format!("{PROGRAM_VOLUME_PATH}/facts.json"));
        let mut words = vec!["monitor", "--listen", listen.as_str(), "--expect-transport", transport.word()];
        if self.place.has_preflight_for_monitor(self.pod) {
            words.extend(["--facts", facts.as_str()]);
        }
        words.extend(flags.args.iter().map(String::as_str));
        let args: Vec<String> = words.into_iter().map(json_of_text).collect();
        let mut mounts = vec![self.run(true), self.no_token()];
        mounts.extend(self.shm().map(|volume| mount(volume, SHM_PATH, None, true)));
        mounts.extend(flags.mounts);
        let mut members = vec![
            ("name", json_of_text(MONITOR_CONTAINER)),
            ("image", json_of_text(&monitor.image)),
            ("args", json_of_list(&args)),
            ("ports", json_of_list(&[port])),
        ];
        members.extend((!flags.env.is_empty()).then(|| ("env", json_of_list(&flags.env))));
        members
            .extend(resources_json_of_monitor(self.pod, monitor).map(|resources| ("resources", resources)));
        members.push(("volumeMounts", json_of_list(&mounts)));
        members.push(("securityContext", self.restricted()));
        members.push(("restartPolicy", json_of_text("Always")));
        json_of_pairs(&members)
    }

    /// The volume at `/dev/shm` of the first target: without it a container measures the runtime's own.
    fn shm(&self) -> Option<&str> {
        let first = self.plan.targets.first()?.index;
        let planned = self.plan.changes_of_container(first).iter().find_map(|c| match &c.edit {
            Edit::ShmMount { volume, .. } => Some(volume.as_str()),
            _ => None,
        });
        let own = || {
            let (_, mount) = self.pod.containers().get(first)?.mount_at(SHM_PATH)?;
            mount.name.as_deref().filter(|_| mount.sub_path.is_none())
        };
        planned.or_else(own)
    }

    /// The security context of the target, with `IPC_LOCK` if it gets it.
    fn security_context(&self, target: usize) -> Option<(&'static str, String)> {
        let raw = self.place.raw.container(target).and_then(|r| r.security_context);
        let adds =
            self.plan.changes_of_container(target).iter().any(|c| matches!(c.edit, Edit::Capability { .. }));
        let text = match raw {
            Some(raw) if adds => with_ipc_lock(raw.get())?,
            Some(raw) => raw.get().to_owned(),
            None if adds => r#"{"capabilities":{"add":["IPC_LOCK"]}}"#.to_owned(),
            None => return None,
        };
        Some(("securityContext", text))
    }

    /// What Pod Security `restricted` requires. A user is named only for pods that run as root: elsewhere the image's user,
    /// the pod's, or the one that an OpenShift SCC assigns, is right.
    fn restricted(&self) -> String {
        let root = self.pod.security_context().and_then(|s| s.run_as_user) == Some(0);
        let yes = || "true".to_owned();
        let mut members = vec![
            ("allowPrivilegeEscalation", "false".to_owned()),
            ("capabilities", json_of_pairs(&[("drop", json_of_list(&[json_of_text("ALL")]))])),
            ("readOnlyRootFilesystem", yes()),
            ("runAsNonRoot", yes()),
        ];
        members.extend(root.then(|| ("runAsUser", USER.to_owned())));
        members.push(("seccompProfile", json_of_pairs(&[("type", json_of_text("RuntimeDefault"))])));
        json_of_pairs(&members)
    }

    fn run(&self, read_only: bool) -> String {
        mount(&self.place.volume, PROGRAM_VOLUME_PATH, None, read_only)
    }

    fn no_token(&self) -> String {
        mount(&self.place.volume, TOKEN_PATH, Some(NO_TOKEN), true)
    }
}

/// The members of an object, as they are written.
type Members = BTreeMap<String, Box<RawValue>>;

/// A security context with `IPC_LOCK` added, every other field as it is.
fn with_ipc_lock(text: &str) -> Option<String> {
    let mut context: Members = serde_json::from_str(text).ok()?;
    let mut capabilities: Members = member(&context, "capabilities")?;
    let mut add: Vec<String> = member(&capabilities, "add")?;
    add.push("IPC_LOCK".to_owned());
    capabilities.insert("add".to_owned(), to_raw_value(&add).ok()?);
    context.insert("capabilities".to_owned(), to_raw_value(&capabilities).ok()?);
    serde_json::to_string(&context).ok()
}

/// A member, or the default where it is absent or null; `None` where it has another type.
fn member<T: Default + DeserializeOwned>(of: &Members, key: &str) -> Option<T> {
    let Some(text) = of.get(key) else { return Some(T::default()) };
    serde_json::from_str::<Option<T>>(text.get()).ok().map(Option::unwrap_or_default)
}
