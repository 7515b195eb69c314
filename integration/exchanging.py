"""DoExchange with only pyarrow: sends a file in a binary column, and receives its table."""
import json

import pyarrow as pa
import pyarrow.flight as flight

BYTES = pa.schema([("bytes", pa.binary())])
PIECE = 1 << 20


def pieces(file):
    """The bytes of a file as record batches."""
    for at in range(0, max(1, len(file)), PIECE):
        yield pa.record_batch([pa.array([file[at:at + PIECE]], pa.binary())], schema=BYTES)


def begin(client, **command):
    options = flight.FlightCallOptions(timeout=120)
    writer, reader = client.do_exchange(flight.FlightDescriptor.for_command(json.dumps(command)), options)
    writer.begin(BYTES)
    return writer, reader


def send(writer, batches):
    """Sends the batches. If the server has already answered with an error, the reader reports it."""
    try:
        for batch in batches:
            writer.write_batch(batch)
        writer.done_writing()
    except (pa.ArrowException, OSError):
        pass


def answer(reader):
    """The table, and what is known about the file in addition to its rows."""
    batches, facts = [], None
    for chunk in reader:
        batches.append(chunk.data)
        if chunk.app_metadata is not None:
            facts = json.loads(chunk.app_metadata.to_pybytes())
    table = pa.Table.from_batches(batches, schema=reader.schema)
    table.validate(full=True)
    return table, facts


def exchange(client, file, **command):
    writer, reader = begin(client, **command)
    send(writer, pieces(file))
    return answer(reader)
