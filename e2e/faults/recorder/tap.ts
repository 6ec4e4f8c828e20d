import { type AddressInfo, connect, createServer } from "node:net";
import type { ServerName } from "./log-line.ts";

type Note = (line: {
  type: "bytes";
  server: ServerName;
  connection: number;
  from: "service" | "recorder";
  base64: string;
}) => void;

/**
 * Starts a TCP proxy in front of a server of the recorder. It records every byte that either side sends.
 *
 * @returns the proxy's port.
 */
export async function startTap(name: ServerName, port: number, note: Note): Promise<number> {
  let connections = 0;
  const server = createServer((client) => {
    const connection = ++connections;
    const upstream = connect(port, "127.0.0.1");
    for (const [socket, other, from] of [
      [client, upstream, "service"],
      [upstream, client, "recorder"],
    ] as const) {
      socket.on("data", (bytes: Buffer) =>
        note({ type: "bytes", server: name, connection, from, base64: bytes.toString("base64") }),
      );
      socket.on("error", () => other.destroy());
      socket.pipe(other);
      socket.on("close", () => (from === "recorder" ? other.end() : other.destroy()));
    }
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return (server.address() as AddressInfo).port;
}
