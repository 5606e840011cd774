ALTER TABLE "pipe_destinations" ADD COLUMN "required" boolean DEFAULT true NOT NULL;
