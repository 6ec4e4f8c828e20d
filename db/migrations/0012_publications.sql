CREATE TABLE "publications" (
	"id" text PRIMARY KEY NOT NULL,
	"owner_id" text NOT NULL,
	"session_id" text,
	"variant" text NOT NULL,
	"release" integer,
	"newest_release" integer NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "publications_variant" UNIQUE("session_id","variant"),
	CONSTRAINT "publications_release" CHECK ("publications"."release" between 1 and "publications"."newest_release")
);
--> statement-breakpoint
CREATE TABLE "releases" (
	"publication_id" text NOT NULL,
	"number" integer NOT NULL,
	"id" text NOT NULL,
	"revision" integer NOT NULL,
	"document" json NOT NULL,
	"script" text NOT NULL,
	"integrity" text NOT NULL,
	"check_status" text,
	"checked_at" timestamp (3) with time zone,
	"is_unchecked" boolean NOT NULL,
	"author" text NOT NULL,
	"run_id" text,
	"call_id" text,
	"withdrawn_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "releases_publication_id_number_pk" PRIMARY KEY("publication_id","number"),
	CONSTRAINT "releases_id" UNIQUE("id"),
	CONSTRAINT "releases_call" UNIQUE("run_id","call_id"),
	CONSTRAINT "releases_author" CHECK ("releases"."author" in ('agent', 'person')),
	CONSTRAINT "releases_check" CHECK ("releases"."check_status" in ('pass', 'warn', 'fail'))
);
--> statement-breakpoint
ALTER TABLE "publications" ADD CONSTRAINT "publications_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "releases" ADD CONSTRAINT "releases_publication_id_publications_id_fk" FOREIGN KEY ("publication_id") REFERENCES "public"."publications"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "publications_owner" ON "publications" USING btree ("owner_id","created_at","id");