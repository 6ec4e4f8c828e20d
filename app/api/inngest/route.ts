import { mountEngine } from "#lib/api/next/mount.ts";

export const runtime = "nodejs";
export const dynamic = "force-dynamic";
/** In seconds. A turn continues in a new call well before that (`TURN_BUDGET_MS`). */
export const maxDuration = 300;

export const { GET, POST, PUT } = mountEngine();
