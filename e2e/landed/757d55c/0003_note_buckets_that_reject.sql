ALTER TABLE "data_stores" ADD COLUMN "rejecting_since" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "data_stores" ADD COLUMN "rejection" text;--> statement-breakpoint
ALTER TABLE "data_stores" ADD COLUMN "rejected_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "data_stores" ADD COLUMN "recheck_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "data_stores_rejecting" ON "data_stores" USING btree ("recheck_at") WHERE "data_stores"."rejecting_since" is not null;