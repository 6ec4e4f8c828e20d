import { randomBytes } from "node:crypto";

/** Creates the id of a host. Each start of a host's process has another id. */
export const newHostId = (): string => `bh_${randomBytes(9).toString("base64url")}`;
