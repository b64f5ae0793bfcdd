import random, sqlite3, ssl, tempfile, uuid
ssl.RAND_bytes(8)
random.random()
next(tempfile._get_candidate_names())
uuid.uuid1()
db = sqlite3.connect(':memory:')
db.execute('select random()').fetchone()
