import { mountMcp } from "#lib/api/next/mount.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = mountMcp();

/** The deadline of a request in seconds. A tool call may take two minutes. */
export const maxDuration = 300;
