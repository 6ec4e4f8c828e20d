import pino, { type Logger } from "pino";
import { createSecurityLog, type OpenSecurityLog } from "#lib/security-log/security-log.ts";
import { type Env, EnvError } from "./env.ts";
import { createLogger } from "./log.ts";

/**
 * Opens the security log. It is written to the file of `SECURITY_LOG`, or else to the service's log, as lines with
 * `"log":"security"`. `LOG_LEVEL` does not filter it, with one exception: without a file, `silent` turns it off.
 * Source: `security-log.md`, Where it is written.
 *
 * @throws EnvError if the file cannot be opened.
 */
export function openSecurityLog(env: Env, logger: Logger): OpenSecurityLog {
  if (env.SECURITY_LOG !== undefined)
    return createSecurityLog(openFile(env.SECURITY_LOG, logger).child({ log: "security" }));
  const level = env.LOG_LEVEL === "silent" ? "silent" : "info";
  return createSecurityLog(logger.child({ log: "security" }, { level }));
}

function openFile(path: string, logger: Logger): Logger {
  const { destination, stopThrowing } = openDestination(path);
  stopThrowing((error) => logger.error({ err: error }, "the security log could not be written"));
  return createLogger("info", destination);
}

function openDestination(path: string) {
  try {
    // Writes synchronously, so that a crash loses no line.
    const destination = pino.destination({ dest: path, append: true, mode: 0o600, sync: true });
    return {
      destination,
      stopThrowing: (onError: (error: unknown) => void) => void destination.on("error", onError),
    };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new EnvError(`SECURITY_LOG: ${path} cannot be opened for writing (${code})`);
  }
}
