import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { waitUntil } from "../../fixtures/service.ts";
import type { FaultCase } from "../fault-case.ts";
import { FLIPPING_NAME } from "../world/flipping-name.ts";

/** An address of this machine to which the service must not connect. */
const PRIVATE = "127.0.0.2";

/** Listens on the private address, at the receiver's port, and counts the connections. */
async function watchPrivate(port: number) {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((done, fail) => server.listen(port, PRIVATE, done).once("error", fail));
  return { connections: () => connections, close: () => server.close() };
}

/**
 * The receiver's host name resolves to an allowed address until the first callback is delivered, and to a private
 * address after that.
 */
export const nameThatFlips: FaultCase = {
  name: "receiver-dns-flip",
  group: "receiver",
  title: "a name that changes to a private address",
  seedsMax: 1,
  async play(world) {
    const file = join(world.dataDir, "address.txt");
    await writeFile(file, "127.0.0.1");
    const flip = fileURLToPath(new URL("../world/flip-names.ts", import.meta.url));
    await world.start(undefined, { NODE_OPTIONS: `--import ${flip}`, FLIP_FILE: file });
    const receiver = new URL(world.recorder.receiverUrl);
    const watched = await watchPrivate(Number(receiver.port));
    try {
      receiver.hostname = FLIPPING_NAME;
      const created = await world.create("slow-shell", { hook: "closing", receiverUrl: receiver.origin });
      if (!created) throw new Error("the session was not created");
      const isStartDelivered = async () => {
        const path = `/api/sessions/${created.sessionId}/deliveries`;
        const { data } = await world.service().read<{ data: { state: string }[] }>(path);
        return data[0]?.state === "delivered";
      };
      await waitUntil(isStartDelivered, "run.started is delivered");
      await writeFile(file, PRIVATE);
      await world.waitUntilIdle();
      if (watched.connections() > 0) world.problems.push(`the private address was connected to`);
    } finally {
      watched.close();
    }
  },
  findViolations: ({ rows }) =>
    rows.deliveries.flatMap(({ id, event, state }) => {
      const errors = rows.deliveryAttempts.filter((one) => one.deliveryId === id).map(({ error }) => error);
      if (event === "run.started") return state === "delivered" ? [] : [`${event} is ${state}: ${errors[0]}`];
      const isRefused = errors.every(
        (error) => error?.includes(PRIVATE) || /loopback|private/.test(error ?? ""),
      );
      return state === "dropped" && isRefused ? [] : [`${event} is ${state}: ${errors.join("; ")}`];
    }),
};
