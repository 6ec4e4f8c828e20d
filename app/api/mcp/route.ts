import { mountMcp } from "#lib/api/next/mount.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = mountMcp();

/** In seconds, because a tool call takes up to two minutes. */
export const maxDuration = 300;
