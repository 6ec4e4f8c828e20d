import { mountAnswerPage } from "#lib/api/next/mount.ts";

export const dynamic = "force-dynamic";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = mountAnswerPage();
