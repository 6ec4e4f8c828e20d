ALTER TABLE "browsers" ADD COLUMN "return_url" text;--> statement-breakpoint
ALTER TABLE "browsers" ADD COLUMN "page_want" text DEFAULT 'reached' NOT NULL;--> statement-breakpoint
ALTER TABLE "browsers" ADD CONSTRAINT "browsers_page_want" CHECK ("browsers"."page_want" in ('selected', 'refused', 'returning', 'reached'));