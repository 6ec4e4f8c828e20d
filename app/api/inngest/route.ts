import { mountEngine } from "#lib/api/next/mount.ts";

export const runtime = "nodejs";
export const dynamic = "force-dynamic";
/** In seconds; a turn hands over to the next call well before it (`TURN_BUDGET_MS`). */
export const maxDuration = 300;

export const { GET, POST, PUT } = mountEngine();
