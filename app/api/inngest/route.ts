import { mountEngine } from "#lib/api/next/mount.ts";

export const runtime = "nodejs";
export const dynamic = "force-dynamic";
/**
 * The deadline of a request in seconds. Long turns do not reach the deadline: after the time that the variable
 * `TURN_BUDGET_MS` sets, a turn continues in a new request.
 */
export const maxDuration = 300;

export const { GET, POST, PUT } = mountEngine();
