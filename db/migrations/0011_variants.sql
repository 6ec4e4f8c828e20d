CREATE TABLE "previews" (
	"session_id" text NOT NULL,
	"position" integer NOT NULL,
	"title" text NOT NULL,
	"url" text NOT NULL,
	"width" integer NOT NULL,
	"height" integer NOT NULL,
	"viewport" text,
	"variant" text,
	"scroll_to" text,
	"caption" text,
	"revision" integer,
	"evidence_id" text,
	"error" text,
	"taken_at" timestamp (3) with time zone,
	CONSTRAINT "previews_session_id_position_pk" PRIMARY KEY("session_id","position")
);
--> statement-breakpoint
CREATE TABLE "variant_revisions" (
	"session_id" text NOT NULL,
	"key" text NOT NULL,
	"number" integer NOT NULL,
	"author" text NOT NULL,
	"run_id" text,
	"call_id" text,
	"document" json NOT NULL,
	"check_status" text,
	"check_report" jsonb,
	"checked_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "variant_revisions_session_id_key_number_pk" PRIMARY KEY("session_id","key","number"),
	CONSTRAINT "variant_revisions_call" UNIQUE("run_id","call_id"),
	CONSTRAINT "variant_revisions_author" CHECK ("variant_revisions"."author" in ('agent', 'person')),
	CONSTRAINT "variant_revisions_check" CHECK ("variant_revisions"."check_status" in ('pass', 'warn', 'fail'))
);
--> statement-breakpoint
CREATE TABLE "variants" (
	"session_id" text NOT NULL,
	"key" text NOT NULL,
	"revision" integer NOT NULL,
	"is_shown" boolean DEFAULT false NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "variants_session_id_key_pk" PRIMARY KEY("session_id","key")
);
--> statement-breakpoint
ALTER TABLE "previews" ADD CONSTRAINT "previews_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "variant_revisions" ADD CONSTRAINT "variant_revisions_session_id_key_variants_session_id_key_fk" FOREIGN KEY ("session_id","key") REFERENCES "public"."variants"("session_id","key") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "variants" ADD CONSTRAINT "variants_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "variants_shown" ON "variants" USING btree ("session_id") WHERE is_shown;