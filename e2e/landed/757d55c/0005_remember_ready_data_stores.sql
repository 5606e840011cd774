ALTER TABLE "data_stores" ADD COLUMN "ready_at" timestamp (3) with time zone;--> statement-breakpoint
UPDATE "data_stores" s SET "ready_at" = now() WHERE ("check"->>'ok')::boolean OR EXISTS (
  SELECT FROM "file_destinations" d WHERE d."data_store_id" = s."id" AND d."status" = 'transferred');
