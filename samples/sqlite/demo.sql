-- Roads of a relation, and what they weigh. The same by SQL alone, to compare.
CREATE TABLE edges(a, b, w);
INSERT INTO edges VALUES (0,1,2), (1,2,3), (0,2,10), (2,3,1), (3,0,5), (1,3,7);
.print ways of two steps, summed over what lies between:
SELECT row, col, value FROM stc('C(i,j) = A(i,k) * A(k,j)', 'A', 'edges') ORDER BY row, col;
.print differences to a join (none):
SELECT count(*) FROM
  (SELECT row, col, value FROM stc('C(i,j) = A(i,k) * A(k,j)', 'A', 'edges')
   EXCEPT SELECT x.a, y.b, sum(x.w * y.w) * 1.0 FROM edges x JOIN edges y ON x.b = y.a
   GROUP BY x.a, y.b);
.print the heaviest road from each:
SELECT row, value FROM stc('m(i) = max(j: A(i,j))', 'A', 'edges');
.print a mistake:
SELECT * FROM stc('y(i) = B(i,j)', 'A', 'edges');
.print identifiers of any kind, a query, and a fill: the shortest ways of at most two roads
SELECT row, col, value FROM stc('D(i,j) = min(A(i,j), min(k: A(i,k) + A(k,j)))', 'A fill inf',
  'SELECT ''town '' || a, ''town '' || b, w FROM edges') ORDER BY row, col;
