import { chmod, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Name of the socket that Postgres creates for port 5432. */
const SOCKET_NAME = ".s.PGSQL.5432";
/** Maximum length of the path of a Unix socket, in bytes: 103 on macOS, a few more on Linux. */
const SOCKET_PATH_MAX = 103;

/** The folder in which a server creates its socket, and the URL by which clients in this process reach it. */
type Socket = {
  /** The value of Postgres's setting `unix_socket_directories`. */
  directory: string;
  url: string;
  close: () => Promise<void>;
};

/**
 * Chooses the folder of the socket: the data folder, which other users cannot enter. If its path is too long for a
 * socket, clients use an open handle of the folder (Linux), or the socket is in a private temporary folder (other
 * systems).
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
