import { openProxySocket } from "../local/proxy-socket.ts";

/** Forwards a Unix socket in a new folder to a port of the machine, until it is killed: arguments are folder and port. */
const [, , folder = "", port = ""] = process.argv;
await openProxySocket(folder, Number(port), undefined);
process.stdout.write("ready\n");
