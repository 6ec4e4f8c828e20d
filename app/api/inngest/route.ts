import { mountEngine } from "#lib/api/next/mount.ts";

export const runtime = "nodejs";
export const dynamic = "force-dynamic";
/**
 * The deadline of a request in seconds. A turn continues in a new request well before this deadline (`TURN_BUDGET_MS`).
 */
export const maxDuration = 300;

export const { GET, POST, PUT } = mountEngine();
