import { randomBytes } from "node:crypto";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { PROTOCOL_VERSION } from "#lib/host-link/link-message.ts";
import { placeHostToken } from "#lib/session/secrets/secret-names.ts";
import type { HostStart } from "../host/run-host.ts";
import { newHostId } from "../host-id.ts";
import { startLocalHost } from "../start-local-host.ts";
import type { ConnectedHost, HostConnections, HostConnectionsDeps } from "./host-connections.ts";
import { storeHost } from "./host-store.ts";

/** How a host on this machine starts. */
export type LocalHostSettings = Omit<HostStart, "id" | "token" | "listen" | "isRemote">;

/** Starts a host on this machine, and connects to it. */
export async function startHostHere(
  { db, logger, sealer, machine }: HostConnectionsDeps,
  connections: HostConnections,
  local: LocalHostSettings,
): Promise<ConnectedHost> {
  const id = newHostId();
  const token = randomBytes(32).toString("base64url");
  const started = await startLocalHost({
    ...local,
    id,
    token,
    listen: { host: "127.0.0.1", port: 0 },
    isRemote: false,
  });
  await faultPoint("host-started");
  const row = await storeHost(db, {
    id,
    home: "local",
    sessionId: null,
    machine,
    url: started.url,
    sealedToken: sealer.seal(placeHostToken(id), token),
    protocol: PROTOCOL_VERSION,
    places: local.maxLive,
  });
  void started.exited.then(async (output) => {
    if (output !== "") logger.debug({ output }, "a browser host ended");
    await connections.giveUp(id);
  });
  return connections.connect(row);
}
