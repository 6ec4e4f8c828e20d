import { mountEntrance } from "#lib/api/mount.ts";

export const dynamic = "force-dynamic";

export const { GET } = mountEntrance();
