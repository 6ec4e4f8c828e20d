ALTER TABLE "logins" DROP CONSTRAINT "logins_method";--> statement-breakpoint
ALTER TABLE "logins" ADD COLUMN "key_id" text;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "task" text;--> statement-breakpoint
ALTER TABLE "logins" ADD CONSTRAINT "logins_method" CHECK ("logins"."method" in ('link', 'oidc', 'key'));--> statement-breakpoint
UPDATE "sessions" SET "task" = (
  SELECT left(string_agg("part" ->> 'text', ' '), 2000)
  FROM "messages", json_array_elements("messages"."parts") AS "part"
  WHERE "messages"."session_id" = "sessions"."id" AND "part" ->> 'type' = 'text'
    AND "messages"."seq" = (
      SELECT max("first"."seq") FROM "messages" AS "first" JOIN "requests" ON "requests"."id" = "first"."request_id"
      WHERE "first"."session_id" = "sessions"."id" AND "requests"."position" = 1 AND "first"."role" = 'user'
    )
) WHERE "parent_session_id" IS NULL;