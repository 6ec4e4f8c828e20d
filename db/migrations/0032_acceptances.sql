CREATE TABLE "check_acceptances" (
	"session_id" text NOT NULL,
	"key" text NOT NULL,
	"revision" integer NOT NULL,
	"change_id" text NOT NULL,
	"change_hash" text NOT NULL,
	"places" jsonb NOT NULL,
	"accepted_by" text NOT NULL,
	"actor" text NOT NULL,
	"accepted_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "check_acceptances_session_id_key_revision_change_id_pk" PRIMARY KEY("session_id","key","revision","change_id"),
	CONSTRAINT "check_acceptances_by" CHECK ("check_acceptances"."accepted_by" in ('caller', 'person'))
);
--> statement-breakpoint
ALTER TABLE "check_acceptances" ADD CONSTRAINT "check_acceptances_revision" FOREIGN KEY ("session_id","key","revision") REFERENCES "public"."variant_revisions"("session_id","key","number") ON DELETE cascade ON UPDATE no action;