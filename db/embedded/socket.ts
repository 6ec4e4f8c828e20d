import { chmod, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The file that Postgres creates for port 5432. */
const SOCKET_NAME = ".s.PGSQL.5432";
/** What the address of a Unix socket holds, in bytes: 103 on macOS, a few more on Linux. */
const SOCKET_PATH_MAX = 103;

/** Where a server creates its socket, and how clients of this process reach it. */
type Socket = {
  /** The value of Postgres's setting `unix_socket_directories`. */
  directory: string;
  url: string;
  close: () => Promise<void>;
};

/**
 * The socket lies in the data folder, which nobody else may enter. Where the folder's path is too long for the address
 * of a socket, clients use an open handle of the folder (Linux), or the socket lies in a private temporary folder.
 */
export async function prepareSocket(folder: string): Promise<Socket> {
  const isShort = Buffer.byteLength(join(folder, SOCKET_NAME)) <= SOCKET_PATH_MAX;
  if (isShort) return { directory: ".", url: toUrl(folder), close: async () => {} };
  if (process.platform === "linux") {
    const handle = await open(folder, "r");
    return { directory: ".", url: toUrl(`/proc/self/fd/${handle.fd}`), close: () => handle.close() };
  }
  const temporary = await mkdtemp(join(tmpdir(), "agent-session-"));
  await chmod(temporary, 0o700);
  return {
    directory: temporary,
    url: toUrl(temporary),
    close: () => rm(temporary, { recursive: true, force: true }),
  };
}

const toUrl = (folder: string) =>
  `postgres://postgres@localhost:5432/postgres?host=${encodeURIComponent(folder)}`;
