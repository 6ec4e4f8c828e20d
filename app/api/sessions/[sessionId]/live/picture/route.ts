import { mount } from "#lib/api/mount.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = mount({ GET: "readPagePicture" });
