CREATE TABLE "owner_spend" (
	"owner_id" text NOT NULL,
	"day" date NOT NULL,
	"tokens" bigint NOT NULL,
	"usd" double precision NOT NULL,
	"ms" bigint NOT NULL,
	CONSTRAINT "owner_spend_owner_id_day_pk" PRIMARY KEY("owner_id","day")
);
--> statement-breakpoint
ALTER TABLE "waits" DROP CONSTRAINT "waits_kind";--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "budget" jsonb;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "spent_tokens" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "spent_usd" double precision DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "spent_ms" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "annotation_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "annotation_bytes" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "workspace_bytes" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "waits_budget" ON "waits" USING btree ("session_id") WHERE kind = 'budget' and ended_by is null;--> statement-breakpoint
ALTER TABLE "waits" ADD CONSTRAINT "waits_kind" CHECK ("waits"."kind" in ('person', 'agents', 'tests', 'control', 'budget'));--> statement-breakpoint
UPDATE "sessions" SET "annotation_count" = "counted"."count", "annotation_bytes" = "counted"."bytes"
FROM (
	SELECT "session_id", count(*) AS "count", sum(octet_length("payload"::text)) AS "bytes"
	FROM "annotations" GROUP BY "session_id"
) AS "counted" WHERE "counted"."session_id" = "sessions"."id";
