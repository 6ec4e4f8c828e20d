import { mountLogIn } from "#lib/api/next/mount.ts";

export const dynamic = "force-dynamic";

export const { POST } = mountLogIn();
