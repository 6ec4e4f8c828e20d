import { mountShareLink } from "#lib/api/next/mount.ts";

export const dynamic = "force-dynamic";

export const { GET } = mountShareLink();
