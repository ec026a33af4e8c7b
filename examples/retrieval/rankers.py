"""The two rankers: TF-IDF with cosine (scikit-learn), and BM25 over word stems (bm25s, PyStemmer)."""

DEPTH = 10


def tfidf(documents, queries):
    """For each query its documents with their scores, best first: the ranker that runs today."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(stop_words="english")
    index = words.fit_transform(documents.values())
    scores = (words.transform(queries.values()) @ index.T).toarray()
    return _best(documents, queries, scores)


def bm25(documents, queries):
    """The ranker that may replace it; the parameters are the library's own."""
    import bm25s
    import Stemmer

    def stems(texts):
        return bm25s.tokenize(
            list(texts.values()),
            stopwords="en",
            stemmer=Stemmer.Stemmer("english"),
            return_ids=False,
            show_progress=False,
        )

    index = bm25s.BM25()
    index.index(stems(documents), show_progress=False)
    return _best(documents, queries, [index.get_scores(words) for words in stems(queries)])


def _best(documents, queries, scores):
    """The best documents with a score above 0; equal scores stand in the order of their names."""
    names = list(documents)
    found = {}
    for query, row in zip(queries, scores, strict=True):
        order = sorted(range(len(names)), key=lambda k: (-row[k], names[k]))[:DEPTH]
        found[query] = [(names[k], float(row[k])) for k in order if row[k] > 0]
    return found
