using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "codec", worker = .codec),
    (name = "remote", worker = .remote),
    (name = "internet", network = (allow = ["private"])), # the servers are on this machine
  ],
  sockets = [
    (name = "codec", address = "127.0.0.1:0", http = (), service = "codec"),
    (name = "remote", address = "127.0.0.1:0", http = (), service = "remote"),
  ],
);

const codec :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.out.mjs")],
  compatibilityDate = "2025-09-01",
);

const remote :Workerd.Worker = (
  modules = [(name = "remote", esModule = embed "remote.out.mjs")],
  compatibilityDate = "2025-09-01",
);
