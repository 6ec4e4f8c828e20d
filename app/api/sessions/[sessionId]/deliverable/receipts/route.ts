import { mount } from "#lib/api/next/mount.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = mount({ GET: "listReceipts" });
