import { mountLogin } from "#lib/api/next/mount.ts";

export const dynamic = "force-dynamic";

export const { GET } = mountLogin();
