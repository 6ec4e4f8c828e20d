CREATE TABLE "schema_forms" (
	"digest" text NOT NULL,
	"model" text NOT NULL,
	"form" text NOT NULL,
	"used_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "schema_forms_digest_model_pk" PRIMARY KEY("digest","model")
);
--> statement-breakpoint
CREATE INDEX "schema_forms_used" ON "schema_forms" USING btree ("used_at");