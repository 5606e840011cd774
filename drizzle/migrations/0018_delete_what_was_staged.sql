-- For `takeLease`: a function sees what was committed before the statement that calls it got the lock of the file, and the statement
-- itself only what was committed before it began.
CREATE FUNCTION "delete_staged"("file" uuid, "from_bytes" bigint) RETURNS void LANGUAGE plpgsql AS 'BEGIN DELETE FROM upload_tails WHERE file_id = file AND offset_bytes >= from_bytes; END';
