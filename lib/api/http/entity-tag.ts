/** Whether an `If-None-Match` header contains an entity tag. The comparison is weak, as HTTP requires. */
export const namesTag = (header: string | null | undefined, etag: string): boolean =>
  header?.split(",").some((tag) => ["*", etag].includes(tag.trim().replace(/^W\//, ""))) ?? false;
